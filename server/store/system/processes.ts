import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { hasCode } from '../../../shared/error-code.ts'
import { type ExclusiveLock, lockExclusively } from '../files/exclusive-lock.ts'

/** Identifies one process. Pids are reused, so the start time and the boot are part of the identity. */
export interface ProcessIdentity {
  pid: number
  /** Clock ticks since boot (proc(5), /proc/pid/stat field 22); empty if the system does not provide it. */
  started: string
  /** Identifier of this boot of the machine; empty if the system has none. */
  boot: string
  /** Host name of the machine or container. */
  host: string
}

/** Processes of the machine, for locks on a folder. */
export interface Processes {
  /** Returns the identity of this process. */
  own(): ProcessIdentity
  /**
   * Whether the process with this identity is still running. If the system does not provide start times, any process
   * with the same pid counts.
   */
  isAlive(identity: ProcessIdentity): boolean
  /** Locks a file until it is released or the process ends. */
  lock(path: string): Promise<ExclusiveLock>
}

/** Processes of the real machine. */
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
    // The name in parentheses may contain spaces and parentheses, so fields are counted from the end of the name (the
    // name is field 2).
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? ''
  } catch {
    // The process has ended, or the system is not Linux.
    return ''
  }
}

function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim()
  } catch {
    // The system is not Linux.
    return ''
  }
}
