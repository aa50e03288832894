import type { DatabaseAddress } from './database-address.ts'

const choices = new WeakMap<DatabaseAddress, HostChoice>()

/**
 * Which host of a database is tried first. After a failover the old primary may still run and take statements that it can never confirm: it is left, and not gone back to once a
 * newer one is known.
 */
export class HostChoice {
  readonly #hosts: readonly string[]
  /** The one that did not answer last. */
  #left = ''
  /** Timeline of the newest primary that was reached, by the identifier of its cluster. */
  readonly #timelines = new Map<string, string>()

  private constructor({ hosts }: DatabaseAddress) {
    this.#hosts = hosts
  }

  static of(address: DatabaseAddress): HostChoice {
    const choice = choices.get(address) ?? new HostChoice(address)
    choices.set(address, choice)
    return choice
  }

  /** Connection strings in the order in which they are tried. */
  get order(): readonly string[] {
    return [...this.#hosts.filter((host) => host !== this.#left), ...this.#hosts.filter((host) => host === this.#left)]
  }

  /** This one has not answered in time: others are tried first. */
  leave(connectionString: string): void {
    this.#left = connectionString
  }

  /** @throws Error when a newer primary of the same cluster is known */
  check({ cluster, timeline }: { cluster: string; timeline: string }): void {
    const newest = this.#timelines.get(cluster) ?? ''
    if (timeline < newest) throw new Error('another server has taken over from this one: it is an old primary')
    this.#timelines.set(cluster, timeline)
  }
}
