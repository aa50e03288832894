import { ConsoleError } from '../../shared/console/procedure.ts'
import type { NodeView } from '../../shared/console/nodes.ts'
import { limits } from '../../shared/limits.ts'
import { hasOtherEmbedded, onlyOneEmbedded } from '../nodes/embedded/only-one.ts'
import { newNodeSecrets } from '../nodes/embedded/token-key.ts'
import type { NodePool } from '../nodes/node-pool.ts'
import type { StoredNode } from '../store/records.ts'
import type { Store } from '../store/store.ts'
import type { Handlers, ProceduresOf } from './handlers.ts'

/** Procedures on MCU nodes. */
export function nodeHandlers(store: Store, pool: NodePool): Handlers<ProceduresOf<'nodes'>> {
  const view = (name: string): NodeView => {
    const found = pool.views().find(({ config }) => config.name === name)
    if (found === undefined) throw noSuchNode(name)
    return found
  }
  const change = async (name: string, edit: (node: StoredNode) => StoredNode): Promise<NodeView> => {
    await store.transact([`nodes/${name}`], (transaction) => {
      const node = store.get('nodes', name)
      if (node === undefined) throw noSuchNode(name)
      transaction.put('nodes', name, edit(node))
    })
    return view(name)
  }
  return {
    'nodes.list': () => pool.views(),
    'nodes.add': async (config) => {
      await store.transact([`nodes/${config.name}`, 'nodes'], (transaction) => {
        if (store.get('nodes', config.name) !== undefined) {
          const message = `A node named ${config.name} exists already.`
          throw new ConsoleError('conflict', message, { problems: [{ path: 'name', message }] })
        }
        if (store.all('nodes').size >= limits.nodes)
          throw new ConsoleError('conflict', `A site holds at most ${limits.nodes} nodes.`)
        if (config.kind === 'embedded') assertOnly(store, config.name)
        transaction.put('nodes', config.name, {
          ...config,
          created_at: Date.now(),
          draining: false,
          secrets_sealed: newNodeSecrets(config.kind, store),
        })
      })
      return view(config.name)
    },
    'nodes.update': (config) =>
      change(config.name, (node) => {
        if (node.kind !== config.kind) {
          const message = 'The kind of a node cannot be changed: remove it and add another.'
          throw new ConsoleError('conflict', message, { problems: [{ path: 'kind', message }] })
        }
        return { ...node, ...config }
      }),
    'nodes.enable': ({ name }) => change(name, (node) => ({ ...node, enabled: true })),
    'nodes.disable': ({ name }) => change(name, (node) => ({ ...node, enabled: false })),
    'nodes.drain': async ({ name }) => {
      await pool.drain(name, true)
      return view(name)
    },
    'nodes.undrain': async ({ name }) => {
      await pool.drain(name, false)
      return view(name)
    },
    'nodes.remove': async ({ name }) => {
      await store.transact([`nodes/${name}`], (transaction) => {
        if (store.get('nodes', name) === undefined) throw noSuchNode(name)
        transaction.delete('nodes', name)
      })
      return {}
    },
    'nodes.test': (config) => {
      if (config.kind === 'embedded') assertOnly(store, config.name)
      const secrets_sealed = newNodeSecrets(config.kind, store)
      return pool.testConnection({ ...config, created_at: Date.now(), draining: false, secrets_sealed })
    },
  }
}

/** @throws ConsoleError conflict */
function assertOnly(store: Store, name: string): void {
  if (!hasOtherEmbedded(store.all('nodes').values(), name)) return
  throw new ConsoleError('conflict', onlyOneEmbedded, { problems: [{ path: 'kind', message: onlyOneEmbedded }] })
}

function noSuchNode(name: string): ConsoleError {
  return new ConsoleError('notFound', `There is no node named ${name}.`)
}
