import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { createServer, isIPv4 } from 'node:net'
import { basename } from 'node:path'
import { type Refusal, refusal } from '../../shared/refusals/refusal.ts'

/** Thrown if a listener cannot start; contains a message for the operator. */
export class ListenError extends Error {
  /** Error code of the system, e.g. `EACCES`, `EADDRNOTAVAIL`. */
  readonly code: string
  /** Name of the listener, e.g. `media`. */
  readonly listener: string
  readonly host: string
  readonly port: number

  readonly refusal: Refusal

  constructor(code: string, listener: string, host: string, port: number, refused: Refusal, cause?: unknown) {
    super(refused.message, { cause })
    this.name = 'ListenError'
    this.refusal = refused
    this.code = code
    this.listener = listener
    this.host = host
    this.port = port
  }
}

/** Thrown if another program listens on the port; the message names the program if the system provides its name. */
export class PortInUseError extends ListenError {
  constructor(listener: string, host: string, port: number, cause?: unknown) {
    super('EADDRINUSE', listener, host, port, heldPort(host, port), cause)
    this.name = 'PortInUseError'
  }
}

function heldPort(host: string, port: number): Refusal {
  const holder = portHolder(host, port)
  if (holder === undefined) return refusal('portTaken', { host, port })
  if (holder.pid === process.pid) return refusal('portOwn', { host, port })
  return refusal('portHeld', { host, port, program: holder.name, process: holder.pid })
}

/** Returns a named error for a failure of `listen`; any other error unchanged. */
export function listenError(error: unknown, listener: string, host: string, port: number): unknown {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return error
  switch (error.code) {
    case 'EADDRINUSE':
      return new PortInUseError(listener, host, port, error)
    case 'EACCES':
      return new ListenError(error.code, listener, host, port, refusal('portForbidden', { host, port }), error)
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return new ListenError(error.code, listener, host, port, refusal('hostNotOwn', { host }), error)
    default:
      return new ListenError(error.code, listener, host, port, refusal('portUnusable', { host, port }), error)
  }
}

/**
 * Binds a port for a moment. Resolves to the error if the port cannot be used, otherwise to undefined.
 * @param name name of the listener, for the message
 */
export async function tryPort(name: string, host: string, port: number): Promise<ListenError | undefined> {
  const server = createServer()
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', (error) => reject(listenError(error, name, host, port)))
      server.listen({ host, port, exclusive: true }, () => resolve())
    })
  } catch (error) {
    if (error instanceof ListenError) return error
    throw error
  }
  await new Promise((resolve) => server.close(resolve))
  return undefined
}

interface PortHolder {
  pid: number
  /** Name of the process's program, e.g. `nginx`. */
  name: string
}

/** State LISTEN in `/proc/net/tcp` (Linux: proc_pid_net(5)). */
const listenState = '0A'
/** Time limit of the search, in milliseconds. Only a machine with many processes reaches it. */
const maxSearchMs = 300

/**
 * Returns the process that occupies a port: on Linux, from `/proc`, as far as this user may read it. undefined: the
 * system does not provide the process. Synchronous, because it is called only after a failure.
 */
export function portHolder(host: string, port: number): PortHolder | undefined {
  if (process.platform !== 'linux') return undefined
  const sockets = new Set([...listeningSockets('tcp', host, port), ...listeningSockets('tcp6', host, port)])
  if (sockets.size === 0) return undefined
  const end = performance.now() + maxSearchMs
  for (const entry of listNames('/proc')) {
    const pid = Number(entry)
    if (!Number.isInteger(pid)) continue
    if (performance.now() > end) return undefined
    for (const descriptor of listNames(`/proc/${pid}/fd`)) {
      if (sockets.has(linkTarget(`/proc/${pid}/fd/${descriptor}`))) return { pid, name: programOf(pid) }
    }
  }
  return undefined
}

/** Returns the sockets that listen on the port at a conflicting address, as named in `/proc/<pid>/fd`. */
function listeningSockets(table: 'tcp' | 'tcp6', host: string, port: number): string[] {
  const wildcard = host === '0.0.0.0' || host === '::'
  const wanted = isIPv4(host) && !wildcard ? kernelAddress(host) : undefined
  return readText(`/proc/net/${table}`)
    .split('\n')
    .slice(1)
    .flatMap((line) => {
      const [, local = '', , state, , , , , , inode] = line.trim().split(/\s+/)
      const [address = '', hexPort = ''] = local.split(':')
      const inTheWay = wanted === undefined || table === 'tcp6' || address === wanted || /^0+$/.test(address)
      return state === listenState && Number.parseInt(hexPort, 16) === port && inTheWay ? [`socket:[${inode}]`] : []
    })
}

/** Formats an IPv4 address as in the kernel's table: hexadecimal, last byte first. */
function kernelAddress(host: string): string {
  const bytes = host.split('.').map((part) => Number(part).toString(16).padStart(2, '0'))
  return bytes.reverse().join('').toUpperCase()
}

function programOf(pid: number): string {
  const [program = ''] = readText(`/proc/${pid}/cmdline`).split('\0')
  return basename(program) || readText(`/proc/${pid}/comm`).trim() || 'a process'
}

// A process may end meanwhile, or belong to another user. In both cases, the result is empty.
function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    // The process has ended, or belongs to another user.
    return ''
  }
}

function listNames(path: string): string[] {
  try {
    return readdirSync(path)
  } catch {
    // The process has ended, or belongs to another user.
    return []
  }
}

function linkTarget(path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    // The process has ended, or belongs to another user.
    return ''
  }
}
