import type { Store } from '../../store/store.ts'
import type { NodeLogger } from '../port/node-failure.ts'
import type { EmbeddedNodes } from './embedded-nodes.ts'

/** Dependencies of a question to the program of the lab. */
export interface LabNodeDependencies {
  store: Pick<Store, 'all'>
  /** Embedded nodes; undefined: this machine has none. */
  media: Pick<EmbeddedNodes, 'client'> | undefined
  logger: NodeLogger
}

/** Timeout of a question, in milliseconds. */
const askMs = 5_000

/**
 * Returns the name of the embedded node whose program runs the test cameras and test people; undefined: no embedded node
 * is enabled.
 */
export function labNode(store: Pick<Store, 'all'>): string | undefined {
  const [first] = [...store.all('nodes').values()]
    .filter(({ kind, enabled }) => kind === 'embedded' && enabled)
    .toSorted((one, other) => one.port - other.port)
  return first?.name
}

/** Asks the program of that node. Returns undefined if no program answers. */
export async function askLabNode<Answer>(
  { store, media, logger }: LabNodeDependencies,
  ask: (client: Awaited<ReturnType<EmbeddedNodes['client']>>, signal: AbortSignal) => Promise<Answer>,
): Promise<Answer | undefined> {
  const node = labNode(store)
  if (media === undefined || node === undefined) return undefined
  try {
    const signal = AbortSignal.timeout(askMs)
    return await ask(await media.client(node, signal), signal)
  } catch (error) {
    // The page of nodes says why a node does not answer.
    logger.debug({ err: error, node }, 'lab: the node of test cameras and people does not answer')
    return undefined
  }
}
