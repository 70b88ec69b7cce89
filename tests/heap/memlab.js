// SPDX-License-Identifier: MIT
//
// What memlab computes of a heapsnapshot, as JSON: [id, name, own size, retained size] of each node.
//
//	node memlab.js FOLDER-OF-NODE_MODULES FILE
const [folder, file] = process.argv.slice(2);
const { analysis, config, utils } = require(`${folder}/node_modules/@memlab/core`);
config.muteConsole = true;
utils.getSnapshotFromFile(file, { buildNodeIdIndex: true, verbose: false }).then((heap) => {
  analysis.preparePathFinder(heap);
  const rows = [];
  heap.nodes.forEach((node) => {
    rows.push([node.id, node.name, node.self_size, node.retainedSize]);
  });
  process.stdout.write(JSON.stringify(rows));
});
