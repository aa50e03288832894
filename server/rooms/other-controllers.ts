import type { Settings } from '../../shared/settings.ts'
import { mustNotFail } from '../../shared/unawaited.ts'
import type { NodeLogger } from '../nodes/port/node-failure.ts'
import type { SiteMember } from '../store/election/site-member.ts'
import { clusterTimes, electionTimes } from '../store/election/timings.ts'
import type { StoredNode } from '../store/records.ts'

/** Dependencies of `OtherControllers`. */
export interface OtherControllersOptions {
  /** This controller as a member of the site; undefined: the site has one controller. */
  member: Pick<SiteMember, 'id' | 'controllers' | 'onLeader'> | undefined
  /** Called when the addresses, or `leaseMs`, change. */
  changed: () => void
  logger: NodeLogger
  /** Interval between two reads, in milliseconds. */
  everyMs?: number
}

/** Maximum number of controllers that a page queries. */
const maxControllers = 16

/**
 * Reads the addresses of the node ports of the other controllers. The leader serves the embedded nodes at its node
 * port, and a replica forwards requests to the leader. Clients can therefore reach a room through any other controller
 * if this one is lost. The addresses are read in advance, and kept while the database is unreachable.
 */
export class OtherControllers {
  readonly #options: OtherControllersOptions
  #nodeUrls: readonly string[] = []
  #isAlone = true
  #timer: NodeJS.Timeout | undefined
  #looking = false
  #stopLeader = (): void => {}

  constructor(options: OtherControllersOptions) {
    this.#options = options
  }

  /**
   * Addresses of the other controllers, e.g. `http://10.0.0.6:7082`; initially sorted by their latest report, newest
   * first.
   */
  get nodeUrls(): readonly string[] {
    return this.#nodeUrls
  }

  /**
   * Time without a report of this controller after which another controller becomes leader, in milliseconds; 0: this is
   * the only controller.
   */
  get leaseMs(): number {
    return this.#isAlone ? 0 : electionTimes.lease
  }

  start(): void {
    const { member, everyMs = clusterTimes.list } = this.#options
    if (member === undefined) return
    this.#timer = setInterval(() => mustNotFail(this.#look(member)), everyMs)
    this.#timer.unref()
    this.#stopLeader = member.onLeader(() => mustNotFail(this.#look(member)))
    mustNotFail(this.#look(member))
  }

  stop(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
    this.#stopLeader()
  }

  async #look(member: Pick<SiteMember, 'id' | 'controllers'>): Promise<void> {
    if (this.#looking) return
    this.#looking = true
    try {
      const known = await member.controllers()
      const others = known
        .filter(({ id, place }) => id !== member.id && place.node !== '')
        .sort((one, other) => other.seenAt - one.seenAt)
      const now = Math.max(...known.map(({ seenAt }) => seenAt))
      const isAlone = !known.some(({ id, seenAt }) => id !== member.id && seenAt > now - clusterTimes.absent)
      this.#set([...new Set(others.map(({ place }) => place.node))].slice(0, maxControllers), isAlone)
    } catch (error) {
      this.#options.logger.debug({ err: error }, 'other controllers could not be read')
    } finally {
      this.#looking = false
    }
  }

  #set(urls: readonly string[], isAlone: boolean): void {
    // Each controller reports every second, so a different order is not a change.
    const isSame = urls.length === this.#nodeUrls.length && urls.every((url) => this.#nodeUrls.includes(url))
    if (this.#timer === undefined || (isSame && isAlone === this.#isAlone)) return
    if (!isSame) this.#nodeUrls = urls
    this.#isAlone = isAlone
    this.#options.changed()
  }
}

/**
 * Returns a warning for each configured address that leads to a single machine, on a site with several controllers. An
 * address that follows the leader (a virtual address, a load balancer) is correct. A fixed address stops working when
 * its machine is lost.
 */
export function fixedAddresses(
  nodes: Iterable<Pick<StoredNode, 'name' | 'kind' | 'enabled' | 'addresses'>>,
  { media }: Pick<Settings, 'media'>,
): string[] {
  const found: string[] = []
  for (const { name, kind, enabled, addresses } of nodes)
    if (kind === 'embedded' && enabled && addresses.length > 0)
      found.push(
        `The embedded node ${name} has an address of its own (${addresses.map(({ addr }) => addr).join(', ')})`,
      )
  if (media.advertised.length > 0)
    found.push(`The media settings name addresses that are offered to browsers (${media.advertised.join(', ')})`)
  return found.map(
    (what) =>
      `${what}: it has to lead to whichever controller leads. Where it is that of one machine, leave it out: each controller is then reached by its own.`,
  )
}
