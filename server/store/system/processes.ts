import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { hasCode } from '../../../shared/error-code.ts'
import { type ExclusiveLock, lockExclusively } from '../files/exclusive-lock.ts'

/** Identifies one process. Pids are used again, so the time it started and the boot belong to it. */
export interface ProcessIdentity {
  pid: number
  /** Clock ticks since boot (proc(5), /proc/pid/stat field 22); empty where the system does not tell. */
  started: string
  /** Identifier of this boot of the machine; empty where the system has none. */
  boot: string
  /** The machine's or container's name. */
  host: string
}

/** Processes of the machine, as a lock on a folder needs them. */
export interface Processes {
  /** The one that runs this. */
  own(): ProcessIdentity
  /** Whether this very process still runs. Where the system does not tell when a process started, a living pid counts. */
  isAlive(identity: ProcessIdentity): boolean
  /** Locks a file until the process ends, or releases it. */
  lock(path: string): Promise<ExclusiveLock>
}

/** Those of the machine itself. */
export const ownProcesses: Processes = {
  own: () => ({ pid: process.pid, started: startOf(process.pid), boot: bootId(), host: hostname() }),
  isAlive: ({ pid, started, boot }) => {
    const current = bootId()
    if (current !== '' && boot !== '' && current !== boot) return false
    try {
      process.kill(pid, 0)
    } catch (error) {
      if (hasCode(error, 'ESRCH')) return false
    }
    const found = startOf(pid)
    return found === '' || started === '' || found === started
  },
  lock: lockExclusively,
}

function startOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The name in parentheses may hold spaces and parentheses itself: fields are counted from its end (it is field 2).
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? ''
  } catch {
    // The process has ended, or this is another system than Linux.
    return ''
  }
}

function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim()
  } catch {
    // Other systems than Linux have no such file.
    return ''
  }
}
