import { mkdir, readFile, rmdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Mount point of Linux's control groups of processors (cgroups(7), version 1). */
const mount = '/sys/fs/cgroup/cpu'
/** Period of the limit, in microseconds: short, so that a throttled process waits for only a few milliseconds. */
const periodUs = 20_000

/** Limits processes to a share of a core, whatever else the machine has. */
export class CpuLimit implements AsyncDisposable {
  readonly #folder: string

  private constructor(folder: string) {
    this.#folder = folder
  }

  /**
   * Limits a process with all its threads to a share of one core, in a subgroup of this process's group, whose precedence it keeps.
   * @param share e.g. 0.3
   * @returns undefined if the system does not permit it
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

  /** Removes the limit, after the processes have ended. */
  async [Symbol.asyncDispose](): Promise<void> {
    await rmdir(this.#folder).catch(() => {})
  }
}
