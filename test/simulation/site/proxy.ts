import { doesNotLead, LeaderResolver, watchUnanswered } from '../../../server/cluster/leader-resolver.ts'
import { clusterTimes } from '../../../server/store/election/timings.ts'
import { startTimer } from '../../../server/store/system/time.ts'
import type { Machine } from '../machine.ts'
import { ask } from '../network.ts'
import type { ServingController, ServingSite } from './client.ts'
import { deadlineMs, type Operation, type Reply } from './operation.ts'

/** They change nothing, and may be asked again. */
const safe: ReadonlySet<Operation['kind']> = new Set(['read', 'look', 'page'])

/** A site whose controllers pass operations on to each other. */
interface ProxiedSite extends ServingSite {
  readonly controllers: readonly (ServingController & {
    handle(operation: Operation, isPassedOn: boolean): Promise<Reply>
  })[]
}

/** The way of a controller to the leader: the real resolver over the simulated network. */
export class SimulatedProxy {
  readonly #options: { site: ProxiedSite; machine: Machine }
  /** As `SiteController` has it. */
  readonly way = new LeaderResolver(true)

  constructor(site: ProxiedSite, machine: Machine) {
    this.#options = { site, machine }
  }

  /** As `ReverseProxy`: finds the leader, and asks again what cannot have been done, or does no harm twice. */
  async passOn(operation: Operation, end: number): Promise<Reply | undefined> {
    const { way } = this
    const { machine, site } = this.#options
    const left = new AbortController()
    const target = await way.next('media', end, left.signal)
    if (target === undefined)
      return { kind: 'refused', why: ['nobody can be asked', ...way.unreachable.values()].join(': ') }
    // It leads itself by now.
    if (target.own) return undefined
    const to = site.controllers.find(({ name }) => name === target.port.host)
    if (to === undefined) return undefined
    const isSafe = safe.has(operation.kind)
    const late = startTimer(end + deadlineMs - machine.monotonic(), () => left.abort(new Error('it is late')))
    const gone = (): void => {
      // The leader before still answers what it has stored.
      const after = isSafe ? 0 : clusterTimes.lastAnswer
      startTimer(after, () => left.abort(new Error('another controller leads')))
    }
    target.gone.addEventListener('abort', gone, { once: true })
    const cut = (): void => left.abort(new Error('the leader cannot be reached'))
    const endWatch = watchUnanswered({ resolver: way, listener: 'media', target, cut })
    const { world, network } = site
    try {
      const carryOut = (): Promise<Reply> => to.handle(operation, true)
      const reply = await ask({ world, network, from: machine, to: to.machine }, carryOut, left.signal)
      if (reply.kind !== 'notLeader') return reply
      way.refused('media', target, doesNotLead)
      return undefined
    } catch (error) {
      if (isUnreached(error)) {
        way.refused('media', target, String(error))
        return undefined
      }
      return isSafe ? undefined : { kind: 'refused', why: String(error) }
    } finally {
      late.cancel()
      endWatch()
      target.gone.removeEventListener('abort', gone)
    }
  }
}

function isUnreached(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error && error.syscall === 'connect'
}
