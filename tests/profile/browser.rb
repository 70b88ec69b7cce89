# SPDX-License-Identifier: MIT
require "cgi"
require "open3"

# A flame graph in a browser: what its script does with what is after '#'.
class Browser
  Frame = Struct.new(:depth, :name, :time, :classes, :x, :width)

  def initialize(folder)
    @folder = folder
  end

  # The document once its script has run: [frames, text of the elements that have an id].
  def open(path, state)
    url = "file://#{path}##{state.map { |key, value| "#{key}=#{CGI.escape(value.to_s)}" }.join("&")}"
    page, errors, status = Open3.capture3("chromium", "--headless", "--no-sandbox", "--disable-gpu", "--user-data-dir=#{@folder}/browser",
                                          "--virtual-time-budget=5000", "--dump-dom", url)
    status.success? or return [[], errors]
    frames = page.scan(%r{<g ([^>]*)><title>.*?</title><rect ([^>]*?)/?>}m).map do |group, rect|
      Frame.new(group[/data-depth="(\d+)"/, 1].to_i, CGI.unescapeHTML(group[/data-name="([^"]*)"/, 1]), group[/data-ns="(\d+)"/, 1].to_i,
                group[/class="([^"]*)"/, 1].to_s.split, rect[/\bx="([^"]*)%"/, 1].to_f, rect[/width="([^"]*)%"/, 1].to_f)
    end
    [frames, page]
  end

  # What is wrong with the view of frame `index`; nil: nothing.
  def zoom(path, index)
    frames, page = open(path, zoom: index)
    return "no frames: #{page[0, 300]}" if frames.empty?
    zoomed = frames[index]
    return "the frame has #{zoomed.x}% to #{zoomed.width}%" unless zoomed.x.abs < 1e-6 && (zoomed.width - 100).abs < 1e-6
    inside = frames.drop(index + 1).take_while { |frame| frame.depth > zoomed.depth }
    wide = inside.reject { |frame| (frame.width - 100.0 * frame.time / zoomed.time).abs < 1e-3 }
    return "#{wide.first.name.inspect} is #{wide.first.width}% wide" unless wide.empty?
    shown = frames.reject { |frame| frame.classes.include?("hidden") }
    callers = zoomed.depth.times.map { |depth| frames.take(index).reverse.find { |frame| frame.depth == depth } }
    return "shows #{shown.size} frames, not #{callers.size} and #{inside.size + 1}" unless (shown - callers - inside - [zoomed]).empty? && shown.size == callers.size + inside.size + 1
    callers.all? { |frame| frame.classes.include?("passed") && frame.width == 100 } ? nil : "a caller is not over it"
  end

  # The same for what is searched for.
  def search(path, name)
    frames, page = open(path, search: "^#{Regexp.escape(name)}$")
    return "no frames: #{page[0, 300]}" if frames.empty?
    found = frames.select { |frame| frame.classes.include?("found") }
    wanted = frames.select { |frame| frame.depth.positive? && frame.name.casecmp?(name) }
    return "marks #{found.size} frames, not #{wanted.size}" unless found == wanted && !found.empty?
    outermost, depth = 0, nil
    frames.each do |frame|
      depth = nil if depth && frame.depth <= depth
      next unless depth.nil? && frame.classes.include?("found")
      outermost += frame.time
      depth = frame.depth
    end
    told = page[/id="found"[^>]*>found in ([\d.]+)%/, 1].to_f
    (told - 100.0 * outermost / frames.first.time).abs < 0.02 ? nil : "says #{told}%, not #{100.0 * outermost / frames.first.time}%"
  end
end
