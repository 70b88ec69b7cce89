// SPDX-License-Identifier: MIT
//
// What memlab computes of a heapsnapshot, as JSON: [id, name, own size, retained size, whether it may be the third of a list: its
// dominator and that one's have the same name, or it is code] of each node.
//
//	node memlab.js FOLDER-OF-NODE_MODULES FILE
const [folder, file] = process.argv.slice(2);
const { analysis, config, utils } = require(`${folder}/node_modules/@memlab/core`);
config.muteConsole = true;
utils.getSnapshotFromFile(file, { buildNodeIdIndex: true, verbose: false }).then((heap) => {
  analysis.preparePathFinder(heap);
  const rows = [];
  heap.nodes.forEach((node) => {
    const above = node.dominatorNode, second = above && above.dominatorNode;
    rows.push([node.id, node.name, node.self_size, node.retainedSize, node.type === "code" || (!!second && above.name === node.name && second.name === node.name)]);
  });
  process.stdout.write(JSON.stringify(rows));
});
