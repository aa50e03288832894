import type { NewLeader, SiteControllers } from '../../../server/console/site-controllers.ts'
import type { DatabaseStatus, KnownController } from '../../../server/store/election/site-member.ts'

/** Makes a controller as stored in the database. */
export function known(name: string, fields: Partial<KnownController> = {}): KnownController {
  const url = (port: number): string => `http://${name}.example:${port}`
  return {
    id: `id-${name}`,
    name,
    version: '1.2.3',
    place: { media: url(7080), device: url(7081), node: url(7082), console: url(7083), event: '', certificate: 'PEM' },
    role: 'standby',
    behind: 0,
    behindFor: 0,
    seenAt: 1_000_000,
    since: 900_000,
    ...fields,
  }
}

/** A site of three controllers that a test changes: alpha leads, and is the one in this process. */
export class KnownSite implements SiteControllers {
  readonly id: string
  readonly medium = 'database'
  items = [known('alpha', { role: 'leader' }), known('beta'), known('gamma')]
  away: DatabaseStatus = { shown: 'postgres://roomdesk@db.example/site', awaySince: 0, error: '', risks: [] }
  leaderId: string | undefined = 'id-alpha'
  untold: NewLeader | undefined
  readonly handedOver: string[] = []
  readonly #listeners = new Set<(leader: KnownController | undefined) => void>()

  constructor(self = 'alpha') {
    this.id = `id-${self}`
  }

  controllers(): Promise<readonly KnownController[]> {
    return this.away.awaySince === 0 ? Promise.resolve(this.items) : Promise.reject(new Error('away'))
  }

  leader(): KnownController | undefined {
    return this.items.find(({ id }) => id === this.leaderId)
  }

  newLeader(): NewLeader | undefined {
    const told = this.untold
    this.untold = undefined
    return told
  }

  onLeader(listener: (leader: KnownController | undefined) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  database(): DatabaseStatus {
    return this.away
  }

  answerLeader(): DatabaseStatus {
    return this.away
  }

  lease(): undefined {
    return undefined
  }

  handOver(id: string): Promise<void> {
    this.handedOver.push(id)
    this.lead(id)
    return Promise.resolve()
  }

  /** Makes a controller the leader; undefined: nobody leads. */
  lead(id: string | undefined, untold?: NewLeader): void {
    this.leaderId = id
    this.untold = untold
    for (const listener of this.#listeners) listener(this.leader())
  }
}
