import type { LeaseFigures } from '../store/election/site-member.ts'
import { Gauge, type Registry } from 'prom-client'
import type { DurabilityRisk } from '../../shared/domain/durability.ts'

/** Facts about the controllers of the site, read at each scrape. */
export interface ControllerMetricSources {
  leads: () => boolean
  /** Returns the number of stored changes that are not in this controller's memory. */
  behind: () => number
  /** Whether the database of the site is reachable; undefined: a site in files. */
  databaseUp: () => boolean | undefined
  /** Returns the certainty of the leadership; undefined: this controller does not lead. */
  lease: () => LeaseFigures | undefined
  /** Returns the number of other replicas that this controller cannot reach. */
  unreachable: () => number
  /** Returns the settings of the database that can lose a confirmed change. */
  databaseRisks: () => readonly DurabilityRisk[]
}

/** Adds the gauges that every controller has in either role. */
export function addControllerGauges(registry: Registry, sources: ControllerMetricSources): void {
  const { leads, behind, databaseUp, databaseRisks, unreachable, lease } = sources
  const add = (name: string, help: string, read: () => number | undefined): void => {
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        const value = read()
        if (value === undefined) this.remove()
        else this.set(value)
      },
    })
  }
  add('roomdesk_leader', '1 while this controller leads its site, 0 while it stands by.', () => Number(leads()))
  add('roomdesk_standby_behind_lines', 'Changes that are stored and not in the memory of this controller.', behind)
  if (databaseUp() === undefined) return
  add('roomdesk_database_up', '1 while the database of the site can be reached.', () => Number(databaseUp()))
  const ofLease = (read: (figures: LeaseFigures) => number) => (): number | undefined => {
    const figures = lease()
    return figures === undefined ? undefined : read(figures)
  }
  add(
    'roomdesk_leader_epoch',
    'Raised by each change of the leader, and each reconnection to the database; of the leader only.',
    ofLease(({ epoch }) => epoch),
  )
  add(
    'roomdesk_lease_proof_age_seconds',
    'Time since the database last proved that this controller leads; of the leader only.',
    ofLease(({ provedFor }) => provedFor / 1_000),
  )
  add(
    'roomdesk_lease_lapses',
    'Times since this controller leads that it was not sure whether it does, so that reads waited; of the leader only.',
    ofLease(({ lapses }) => lapses),
  )
  add(
    'roomdesk_lease_waits',
    'Requests that had to wait for that, since this controller leads; of the leader only.',
    ofLease(({ waits }) => waits),
  )
  add('roomdesk_controllers_unreachable', 'Other replicas that this controller cannot reach.', unreachable)
  add(
    'roomdesk_database_durable',
    '1 while no setting of the database is known by which a confirmed change can be lost, 0 otherwise.',
    () => Number(databaseRisks().length === 0),
  )
}
