import { versionOf } from '../../store/edits/record-version.ts'
import { secretNamesOf } from '../secrets/node-secrets.ts'
import type { Announcement } from './node-announcements.ts'
import type { PoolContext } from './state/pool-context.ts'
import type { LiveNode } from './state/live-node.ts'
import type { NodeView } from '../../../shared/domain/nodes.ts'

/** Every stored node as the console shows it, in the order of creation. */
export function viewsOf(context: PoolContext, stateOf: (name: string) => Announcement | undefined): NodeView[] {
  const { store, presence, index, live, drift } = context
  return Array.from(store.all('nodes').values(), (node) => {
    const { created_at, draining, drain, secrets_sealed: _, ...config } = node
    const announced = stateOf(node.name)
    return {
      config,
      secrets: secretNamesOf(node, store),
      state: announced?.state ?? (node.enabled ? 'connecting' : 'disabled'),
      draining,
      rooms: index.count(node.name),
      users: presence.usersOn(node.name),
      devices: presence.devicesOn(node.name),
      pulls: live.get(node.name)?.health.last?.pulls ?? 0,
      rooms_left: draining ? index.count(node.name) : 0,
      drain: draining
        ? {
            since: drain?.since ?? announced?.since ?? created_at,
            rooms: drain?.rooms ?? 0,
            people_left: presence.peopleOn(node.name),
          }
        : null,
      last_error: announced?.error ?? '',
      since: announced?.since ?? created_at,
      program: programOf(live.get(node.name)),
      unsteady: unsteadyOf(live.get(node.name), context),
      drift: drift.of(node.name),
      version: versionOf('node', node),
    }
  })
}

function programOf(node: LiveNode | undefined): NodeView['program'] {
  const program = node?.driver.program
  if (program === undefined) return null
  const { version, plugins, tells, eventsSince } = program
  return { version, plugins: [...plugins], events: tells, events_since: eventsSince }
}

function unsteadyOf(node: LiveNode | undefined, { clock, now }: PoolContext): NodeView['unsteady'] {
  if (!node?.online || node.steadiness.steady) return null
  const { steadyAt, losses } = node.steadiness
  return { until: Math.ceil(clock() + steadyAt - now()), losses }
}
