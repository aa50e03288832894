import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { isIPv4 } from 'node:net'
import { basename } from 'node:path'

export interface PortHolder {
  pid: number
  /** Name of the process's program, e.g. `nginx`. */
  name: string
}

/** State LISTEN in `/proc/net/tcp` (Linux: proc_pid_net(5)). */
const listening = '0A'
/** Time limit of the search, in milliseconds. Only a machine with many processes reaches it. */
const maxSearchMs = 300

/**
 * Returns the process that occupies a port: on Linux, from `/proc`, as far as this user may read it. undefined: the
 * system does not provide the process. Synchronous, because it is called only after a failure.
 */
export function portHolder(host: string, port: number): PortHolder | undefined {
  if (process.platform !== 'linux') return undefined
  const sockets = new Set([...listeners('tcp', host, port), ...listeners('tcp6', host, port)])
  if (sockets.size === 0) return undefined
  const end = performance.now() + maxSearchMs
  for (const entry of list('/proc')) {
    const pid = Number(entry)
    if (!Number.isInteger(pid)) continue
    if (performance.now() > end) return undefined
    for (const descriptor of list(`/proc/${pid}/fd`)) {
      if (sockets.has(link(`/proc/${pid}/fd/${descriptor}`))) return { pid, name: nameOf(pid) }
    }
  }
  return undefined
}

/** Returns the sockets that listen on the port at a conflicting address, as named in `/proc/<pid>/fd`. */
function listeners(table: 'tcp' | 'tcp6', host: string, port: number): string[] {
  const wildcard = host === '0.0.0.0' || host === '::'
  const wanted = isIPv4(host) && !wildcard ? kernelAddress(host) : undefined
  return read(`/proc/net/${table}`)
    .split('\n')
    .slice(1)
    .flatMap((line) => {
      const [, local = '', , state, , , , , , inode] = line.trim().split(/\s+/)
      const [address = '', hexPort = ''] = local.split(':')
      const inTheWay = wanted === undefined || table === 'tcp6' || address === wanted || /^0+$/.test(address)
      return state === listening && Number.parseInt(hexPort, 16) === port && inTheWay ? [`socket:[${inode}]`] : []
    })
}

/** Formats an IPv4 address as in the kernel's table: hexadecimal, last byte first. */
function kernelAddress(host: string): string {
  const bytes = host.split('.').map((part) => Number(part).toString(16).padStart(2, '0'))
  return bytes.reverse().join('').toUpperCase()
}

function nameOf(pid: number): string {
  const [program = ''] = read(`/proc/${pid}/cmdline`).split('\0')
  return basename(program) || read(`/proc/${pid}/comm`).trim() || 'a process'
}

// A process may end meanwhile, or belong to another user. In both cases, the result is empty.
function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    // The process has ended, or belongs to another user.
    return ''
  }
}

function list(path: string): string[] {
  try {
    return readdirSync(path)
  } catch {
    // The process has ended, or belongs to another user.
    return []
  }
}

function link(path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    // The process has ended, or belongs to another user.
    return ''
  }
}
