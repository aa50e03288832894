/**
 * Program of the embedded media node. The controller starts it as a child process (`child_process.fork` or Electron's
 * `utilityProcess`), exchanges messages with it, and ends it.
 */
import v8 from 'node:v8'
import ndc from 'node-datachannel'
import { type ControlMessage, GatheredMessages, messagesOf } from '../../shared/media/control-link.ts'
import { mustNotFail } from '../../shared/unawaited.ts'
import { ControlService } from '../media/control-service.ts'
import { nodeWeb } from './node-web.ts'

/** Electron's message port, if present. */
interface ParentPort {
  postMessage(message: unknown): void
  on(event: 'message', listener: (event: { data: unknown }) => void): void
}

/** Time for open connections to close, in milliseconds. */
const closeMs = 1_000

/** Exit code after an unexpected error (EX_SOFTWARE of sysexits.h), and the time for its last messages, in milliseconds. */
const crashExitCode = 70
const crashMs = 200

/**
 * Growth of objects and buffers together between two full collections, in percent. With V8's default of up to 300, the
 * memory for 200 recorded cameras grows by 500 MB. Halving the growth costs a sixth more processor time.
 */
const growthPercent = 100

/** Major version of V8 in Node 24. Later versions may reject these switches with a warning. */
const knownV8 = 13

const parentPort = 'parentPort' in process ? asParentPort(process.parentPort) : undefined
const gathered = new GatheredMessages<ControlMessage>((message) => {
  if (parentPort !== undefined) parentPort.postMessage(message)
  // A failed send means that the controller has ended; the event `disconnect` follows.
  else if (process.connected) process.send?.(message, undefined, undefined, () => {})
})
const service = new ControlService(gathered, nodeWeb, () => mustNotFail(end()))
let ending = false

function receive(value: unknown): void {
  for (const message of messagesOf(value)) service.link.receive(message)
}

async function end(): Promise<void> {
  if (ending) return
  ending = true
  // Native threads keep the process alive, so it exits explicitly.
  setTimeout(() => process.exit(0), closeMs)
  // An error while closing does not matter, because the process ends.
  await service.close().catch(() => {})
  gathered.flush()
  process.exit(0)
}

countBuffersAsMemory()
ndc.initLogger('Fatal', () => {})
parentPort?.on('message', ({ data }) => receive(data))
process.on('message', (value) => receive(value))
process.on('disconnect', () => mustNotFail(end()))
process.on('SIGTERM', () => mustNotFail(end()))
// Ignores an interrupt at the terminal, which reaches every process of the group: the controller decides when to end.
process.on('SIGINT', () => {})
process.on('uncaughtException', fail)
process.on('unhandledRejection', fail)

/**
 * Handles an uncaught error, after which the state may be inconsistent. Reports the error to the controller, which
 * starts a new process.
 */
function fail(error: unknown): void {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
  if (ending) return
  ending = true
  // The delay lets the message leave before the process ends.
  setTimeout(() => process.exit(crashExitCode), crashMs)
  try {
    service.log.error('unexpected error', text)
    gathered.flush()
    setImmediate(() => process.exit(crashExitCode))
  } catch {
    // The controller cannot be reached.
    process.stderr.write(`${text}\n`)
  }
}

function asParentPort(value: unknown): ParentPort | undefined {
  return isParentPort(value) ? value : undefined
}

function isParentPort(value: unknown): value is ParentPort {
  return typeof value === 'object' && value !== null && 'postMessage' in value && 'on' in value
}

/**
 * Lets V8 include buffers in the limit that triggers a full collection. Otherwise V8 collects after each 64 MB of new
 * buffers, for a heap of any size. With 200 recorded cameras, these collections run three times per second and take a
 * third of the process's time.
 */
function countBuffersAsMemory(): void {
  if (Number.parseInt(process.versions.v8, 10) > knownV8) return
  v8.setFlagsFromString('--external-memory-accounted-in-global-limit')
  v8.setFlagsFromString(`--heap-growing-percent=${growthPercent}`)
}
