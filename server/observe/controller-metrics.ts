import { Gauge, type Registry } from 'prom-client'

/** Facts about the controllers of the site, read at each scrape. */
export interface ControllerMetricSources {
  /** This one leads. */
  leads: () => boolean
  /** Changes that are stored and not in the memory of this one. */
  behind: () => number
  /** Whether the database of the site answers; undefined for a site in files. */
  databaseUp: () => boolean | undefined
}

/** Adds what every controller tells in either role. */
export function addControllerGauges(registry: Registry, { leads, behind, databaseUp }: ControllerMetricSources): void {
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
}
