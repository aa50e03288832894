import { BrokenPromise } from '../history.ts'
import type { SimulatedController, SimulatedSite } from './controller.ts'

/** Memory of one process when the database went back. */
interface Witness {
  controller: SimulatedController
  /** Which process of its machine it was. */
  life: number
  versions: ReadonlyMap<string, number>
  /** Reports of all controllers until then. */
  reports: number
}

/** Compares acknowledged changes with what is stored at the end: a change that is missing must have been reported, if a process had it in memory all the time. */
export class LossWatch {
  readonly #site: SimulatedSite
  readonly #acknowledged: () => ReadonlyMap<string, number>
  #witnesses: Witness[] = []

  /** @param acknowledged highest version of each room that a client was told to be stored */
  constructor(site: SimulatedSite, acknowledged: () => ReadonlyMap<string, number>) {
    this.#site = site
    this.#acknowledged = acknowledged
    for (const server of site.servers) server.onLess = () => this.#note()
  }

  /** The database has less than it had: notes which process knows what. */
  #note(): void {
    for (const controller of this.#site.controllers) {
      const { versions } = controller
      if (versions.size > 0)
        this.#witnesses.push({ controller, life: controller.machine.life, versions, reports: this.#reports })
    }
  }

  get #reports(): number {
    return this.#site.controllers.reduce((sum, { losses }) => sum + losses.length, 0)
  }

  /** @throws BrokenPromise */
  check(): void {
    const leader = this.#site.controllers.find(({ leads }) => leads)
    if (leader === undefined) return
    const stored = leader.versions
    for (const [key, version] of this.#acknowledged()) {
      const found = stored.get(key) ?? 0
      if (found >= version) continue
      // Reports of an earlier loss do not count.
      const witness = this.#witnesses.findLast(
        ({ controller, life, versions }) => controller.machine.life === life && (versions.get(key) ?? 0) >= version,
      )
      if (witness === undefined || this.#reports > witness.reports) continue
      const what = `version ${version} of ${key} was acknowledged and is lost (${found} is stored); ${witness.controller.name} had it in memory, and no loss was reported`
      this.#site.world.note('HISTORY', what)
      throw new BrokenPromise(what)
    }
  }
}
