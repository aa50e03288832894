import type { DeviceErrorKind } from '../../../shared/device.ts'
import type { Caller, HostileAnswer, Script } from './hostile-camera.ts'
import type { SeenRequest } from './scripted-camera.ts'

/** What becomes of a camera: it stays in its room, does not get in, or is lost again, and why. */
export type Outcome = 'stays' | `refused: ${DeviceErrorKind}` | `lost: ${DeviceErrorKind}`

/** One way of a camera to misbehave. */
export interface HostileCase {
  what: string
  /** Left out: over both. */
  over?: 'tcp' | 'udp'
  script: Script
  /** In place of the usual one. */
  description?: string
  outcome: Outcome
  /** It goes on past the first reports that the node sends, `reportMs` after the beginning. */
  lasts?: boolean
}

/** When a session sends its first receiver reports, in milliseconds. */
export const reportMs = 5_000

export type Act = (caller: Caller, request: SeenRequest) => void

export const methods = ['OPTIONS', 'DESCRIBE', 'SETUP', 'PLAY'] as const

/** The same at every phase until the stream plays. */
export function always(act: Act): Script {
  return Object.fromEntries(methods.map((method) => [method, act]))
}

/** Answers with something in place of what is usual. */
export function answering(more: HostileAnswer): Act {
  return (caller, request) => caller.answer(request, more)
}

/** SETUP with these header fields; a camera of datagrams refuses the other way first. */
export function setUp(change: (caller: Caller, request: SeenRequest) => HostileAnswer): Act {
  return (caller, request) => caller.setUp(request, change(caller, request))
}

/** Plays as usual, and does something besides once the camera is in its room. */
export function whilePlaying(act: (caller: Caller) => void): Script {
  return {
    PLAY: (caller, request) => {
      caller.usual(request)
      caller.onceJoined(() => act(caller))
    },
  }
}

/** An answer whose bytes are changed before they go out. */
export const changed =
  (change: (text: string) => string): Act =>
  (caller, request) => {
    if (request.method === 'SETUP' && caller.refusesTransport(request)) return caller.usual(request)
    if (request.method === 'SETUP') caller.takePorts(request)
    caller.write(Buffer.from(change(caller.message(request).toString('latin1')), 'latin1'))
    if (request.method === 'PLAY') caller.stream()
  }
