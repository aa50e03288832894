import { mkdir, readFile, rmdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Where Linux mounts the control groups of processors (cgroups(7), version 1). */
const mount = '/sys/fs/cgroup/cpu'
/** The limit is kept over so many microseconds: short, so that a process that is held waits for a few milliseconds only. */
const periodUs = 20_000

/** Processes that may use a part of a core and no more, whatever else the machine has. */
export class CpuLimit implements AsyncDisposable {
  readonly #folder: string

  private constructor(folder: string) {
    this.#folder = folder
  }

  /**
   * Holds a process, with all its threads, to a part of one core; below the group of this process, whose precedence it keeps.
   * @param share e.g. 0.3
   * @returns undefined where the system does not let us
   */
  static async hold(pid: number, share: number): Promise<CpuLimit | undefined> {
    try {
      const own = /^\d+:[^:]*\bcpu\b[^:]*:(.*)$/m.exec(await readFile('/proc/self/cgroup', 'utf8'))?.[1]
      if (own === undefined) return undefined
      const folder = join(mount, own, `held-${pid}`)
      await mkdir(folder)
      await writeFile(join(folder, 'cpu.cfs_period_us'), String(periodUs))
      await writeFile(join(folder, 'cpu.cfs_quota_us'), String(Math.round(periodUs * share)))
      await writeFile(join(folder, 'cgroup.procs'), String(pid))
      return new CpuLimit(folder)
    } catch {
      return undefined
    }
  }

  /** The processes must have ended. */
  async [Symbol.asyncDispose](): Promise<void> {
    await rmdir(this.#folder).catch(() => {})
  }
}
