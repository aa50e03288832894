import { Gauge, type Registry } from 'prom-client'
import type { DurabilityRisk } from '../../shared/console/durability.ts'

/** Facts about the controllers of the site, read at each scrape. */
export interface ControllerMetricSources {
  /** This one leads. */
  leads: () => boolean
  /** Changes that are stored and not in the memory of this one. */
  behind: () => number
  /** Whether the database of the site answers; undefined for a site in files. */
  databaseUp: () => boolean | undefined
  /** Number of other replicas that this controller cannot reach. */
  unreachable: () => number
  /** Settings of the database by which a confirmed change can be lost. */
  databaseRisks: () => readonly DurabilityRisk[]
}

/** Adds what every controller tells in either role. */
export function addControllerGauges(registry: Registry, sources: ControllerMetricSources): void {
  const { leads, behind, databaseUp, databaseRisks, unreachable } = sources
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
  add('roomdesk_controllers_unreachable', 'Other replicas that this controller cannot reach.', unreachable)
  add(
    'roomdesk_database_durable',
    '1 while no setting of the database is known by which a confirmed change can be lost, 0 otherwise.',
    () => Number(databaseRisks().length === 0),
  )
}
