import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, readFileSync, readdirSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathInRoot } from './debian-root.ts'

/** Packages that a Debian needs beyond the minimum to boot with systemd, and for its admin. */
export const bootPackages = ['systemd', 'systemd-sysv', 'dbus', 'apt', 'man-db', 'gzip', 'tar']

/** Finds a cgroup (version 2) that a systemd can manage. */
function cgroupFolder(): string | undefined {
  const mounts = readFileSync('/proc/mounts', 'utf8').split('\n')
  return mounts.map((line) => line.split(' ')).find(([, , kind]) => kind === 'cgroup2')?.[1]
}

/** Tells whether a second Debian can boot on this machine. */
export function canBoot(): boolean {
  const folder = cgroupFolder()
  if (folder === undefined) return false
  try {
    const own = join(folder, `roomdesk-try-${process.pid}`)
    mkdirSync(own)
    rmdirSync(own)
    execFileSync('unshare', ['--fork', '--pid', '--mount', '--net', '--cgroup', '--ipc', '--uts', 'true'])
    execFileSync('dpkg-query', ['-W', ...bootPackages], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/** Makes the root folder the root file system with the usual mounts, and becomes the first process. */
const boot = `set -e
echo $$ > "$2/cgroup.procs"
exec unshare --fork --pid --mount --net --cgroup --ipc --uts sh -c '
set -e
ip link set lo up
mount --make-rprivate /
mount --bind "$0" "$0"
mount -t proc proc "$0/proc"
mount -t sysfs -o ro sysfs "$0/sys"
mount -t cgroup2 none "$0/sys/fs/cgroup"
mount -t tmpfs -o mode=755 tmpfs "$0/dev"
for name in null zero full random urandom tty; do touch "$0/dev/$name"; mount --bind "/dev/$name" "$0/dev/$name"; done
mkdir "$0/dev/shm" "$0/dev/pts" && mount -t tmpfs tmpfs "$0/dev/shm"
mount -t devpts -o newinstance,ptmxmode=0666 devpts "$0/dev/pts" && ln -s pts/ptmx "$0/dev/ptmx"
mount -t tmpfs -o mode=755 tmpfs "$0/run"
mkdir -p "$0/old" && cd "$0" && pivot_root . old && umount -l /old
exec env -i container=test TERM=dumb /lib/systemd/systemd --log-target=console --show-status=0 --unit=multi-user.target
' "$1"`

/** A Debian booted in a root folder, with systemd as its first process and its own processes, mounts and network. */
export class BootedDebian implements AsyncDisposable {
  readonly #child: ChildProcess
  readonly #cgroup: string
  readonly #first: number

  private constructor(child: ChildProcess, cgroup: string, first: number) {
    this.#child = child
    this.#cgroup = cgroup
    this.#first = first
  }

  /** Boots it; resolves when all units have started. */
  static async boot(root: string): Promise<BootedDebian> {
    const cgroup = join(String(cgroupFolder()), `roomdesk-${process.pid}`)
    mkdirSync(cgroup)
    // A machine id avoids the first-boot questions for a language and a password.
    writeFileSync(join(root, 'etc/machine-id'), `${randomUUID().replaceAll('-', '')}\n`)
    const child = spawn('sh', ['-c', boot, 'boot', root, cgroup], { stdio: 'ignore' })
    const pid = child.pid ?? 0
    let booted: BootedDebian | undefined
    for (const end = Date.now() + 60_000; Date.now() < end && child.exitCode === null; await sleep(100)) {
      const first = Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')[0])
      if (first === 0) continue
      booted = new BootedDebian(child, cgroup, first)
      try {
        if (booted.run('systemctl is-system-running --wait || true').trim() === 'running') return booted
      } catch {
        // Not ready yet.
      }
    }
    await booted?.[Symbol.asyncDispose]()
    throw new Error('systemd did not start')
  }

  /** Runs shell commands in it as root and returns their output. @throws Error with the output if one fails */
  run(commands: string): string {
    const inside = ['-t', String(this.#first), '-a', '-W/', 'env', '-i', `PATH=/usr/local/bin:${pathInRoot}`]
    const settings = ['LC_ALL=C.UTF-8', 'DEBIAN_FRONTEND=noninteractive', 'PAGER=cat', 'SYSTEMD_PAGER=', 'HOME=/root']
    try {
      return execFileSync('nsenter', [...inside, ...settings, 'sh', '-ec', `exec 2>&1; cd /root; ${commands}`], {
        encoding: 'utf8',
        timeout: 60_000,
        stdio: ['ignore', 'pipe', 'pipe'],
      })
    } catch (error) {
      const said = error instanceof Error && 'stdout' in error ? String(error.stdout) : ''
      throw new Error(`${commands}:\n${said}`, { cause: error })
    }
  }

  /** Runs a program of this machine in its network namespace. */
  inNetwork(program: readonly string[], input: string): string {
    const into = ['-t', String(this.#first), '-n', ...program]
    return execFileSync('nsenter', into, { input, encoding: 'utf8', timeout: 60_000 })
  }

  /** Ends it and all its processes. */
  async [Symbol.asyncDispose](): Promise<void> {
    const ended = once(this.#child, 'exit')
    process.kill(this.#first, 'SIGKILL')
    await ended
    const remove = (folder: string): void => {
      for (const entry of readdirSync(folder, { withFileTypes: true }))
        if (entry.isDirectory()) remove(join(folder, entry.name))
      rmdirSync(folder)
    }
    remove(this.#cgroup)
  }
}
