import type { DeviceErrorKind } from '../../../shared/device.ts'
import type { Caller, HostileAnswer, Script } from './hostile-camera.ts'
import type { SeenRequest } from './scripted-camera.ts'

/** Outcome for a camera: it stays in its room, is refused, or is lost again, and why. */
export type Outcome = 'stays' | `refused: ${DeviceErrorKind}` | `lost: ${DeviceErrorKind}`

/** One kind of misbehaviour. */
export interface HostileCase {
  what: string
  /** Transport; default: both. */
  over?: 'tcp' | 'udp'
  script: Script
  /** SDP in place of the usual one. */
  description?: string
  outcome: Outcome
  /** Runs on past the first receiver reports of the node, `reportMs` after the start. */
  lasts?: boolean
}

/** Delay of the first receiver reports of a session, in milliseconds. */
export const reportMs = 5_000

export type Act = (caller: Caller, request: SeenRequest) => void

export const methods = ['OPTIONS', 'DESCRIBE', 'SETUP', 'PLAY'] as const

/** Does the same at every phase until the stream plays. */
export function always(act: Act): Script {
  return Object.fromEntries(methods.map((method) => [method, act]))
}

/** Answers with `more` in place of the usual values. */
export function answering(more: HostileAnswer): Act {
  return (caller, request) => caller.answer(request, more)
}

/** Answers SETUP with these header fields; a UDP camera first refuses the other transport. */
export function setUp(change: (caller: Caller, request: SeenRequest) => HostileAnswer): Act {
  return (caller, request) => caller.setUp(request, change(caller, request))
}

/** Plays as usual, and acts once the camera is in its room. */
export function whilePlaying(act: (caller: Caller) => void): Script {
  return {
    PLAY: (caller, request) => {
      caller.usual(request)
      caller.onceJoined(() => act(caller))
    },
  }
}

/** Changes the bytes of an answer before they are sent. */
export const changed =
  (change: (text: string) => string): Act =>
  (caller, request) => {
    if (request.method === 'SETUP' && caller.refusesTransport(request)) return caller.usual(request)
    if (request.method === 'SETUP') caller.takePorts(request)
    caller.write(Buffer.from(change(caller.message(request).toString('latin1')), 'latin1'))
    if (request.method === 'PLAY') caller.stream()
  }
