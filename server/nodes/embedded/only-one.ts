import type { NodeKind } from '../../../shared/node.ts'

/** The port, the cameras and the people of this machine are one process: a second embedded node would have nothing of its own. */
export const onlyOneEmbedded = 'A site has one embedded node: change or remove the one that is there.'

/** Whether these nodes hold another embedded one besides that of this name. */
export function hasOtherEmbedded(nodes: Iterable<{ name: string; kind: NodeKind }>, name: string): boolean {
  for (const node of nodes) if (node.kind === 'embedded' && node.name !== name) return true
  return false
}
