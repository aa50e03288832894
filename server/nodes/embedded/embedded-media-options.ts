import type { Doer, OutgoingId, Removal, ReportParams, ReportResult, RoomLook } from '../../../shared/media/control.ts'
import type { MediaSettings } from '../../../shared/media/media-settings.ts'
import type { TlsMaterial } from '../../edge/tls.ts'
import type { Gated } from '../../gate/gate.ts'
import type { StoredNode } from '../../store/records.ts'
import type { GatewayListener, RecorderListener, WaitingListener } from '../port/gateway-events.ts'
import type { NodeLogger } from '../port/node-failure.ts'
import type { LocalFfmpeg } from './ffmpeg/local-ffmpeg.ts'
import type { SpawnMediaProcess } from './media-process.ts'

/** Address at which the node listens. */
export interface MediaPlace {
  host: string
  /** 0 picks a free one. */
  port: number
  /** PEM texts; undefined: plain HTTP. */
  tls: { cert: string; key: string } | undefined
  /** Beside plain HTTP: for pages that were opened at https before TLS was switched off. */
  formerTls?: { cert: string; key: string } | undefined
}

/** Configuration of a node besides its place; read at each start and after each change. */
export interface MediaConfiguration {
  /** Key of join links, base64. */
  tokenKey: string
  /** 0: the number of the node port. */
  udpPort: number
  settings: MediaSettings
}

/** A user requests entry to a room that is not open on the node, or to which only the controller can admit them. */
export type WantedRoom = ReportParams<'enter_room'>
/** A visitor opened the page of a room, without a link or with a valid one. */
export type LookedRoom = ReportParams<'look_at_room'>
/** A host locks or unlocks their room. */
export type WantedLock = ReportParams<'lock_room'>
/** A host requests a join link for anybody. */
export type WantedInvite = ReportParams<'make_invitation'>
/** A host starts or stops the recording of their room. */
export type WantedRecording = ReportParams<'record_room'>
/** A host did something that the node has done by itself. */
export type HostActed = ReportParams<'hostActed'>

/** Answer to a user who requests entry to a room. */
export type RoomAnswer = ReportResult<'enter_room'>

/** Requests of the process about rooms. None rejects. */
interface RoomAnswers {
  /** Opens a room for somebody who may enter it. @param node where they stand */
  open: Gated<(wanted: WantedRoom, node: string) => RoomAnswer | Promise<RoomAnswer>>
  /** Facts about a room for a visitor before they join. */
  look: Gated<(looked: LookedRoom) => RoomLook | Promise<RoomLook>>
  /** Locks or unlocks a room for its host. Resolves to whether that was done. */
  lock: Gated<(wanted: WantedLock) => boolean | Promise<boolean>>
  /** Makes a join link for a host; undefined where none can be made. */
  invite: Gated<(wanted: WantedInvite) => string | undefined | Promise<string | undefined>>
  /** Starts or stops the recording of a room for its host. Resolves to whether that was done. */
  record: Gated<(wanted: WantedRecording) => boolean | Promise<boolean>>
}

/** Needs of the embedded node of a site. */
export interface EmbeddedMediaOptions {
  spawn: SpawnMediaProcess
  /** Folder of the built room page; empty: none is served. */
  pageFolder: string
  /** Folder of recordings, which exists and which the process may write; left out: nothing can be recorded. */
  recordingsFolder?: string | undefined
  /** ffmpeg of this machine, run for the processes. */
  ffmpeg: LocalFfmpeg
  /** Key of the proofs of requests that the site's other controllers pass on, the id of this one, and the certificate that it shows them; left out: there are none. */
  passedOn?: { key: Buffer; self: string; tls: TlsMaterial | undefined } | undefined
  /** @param node as it was when its driver was made */
  configuration: (node: StoredNode) => MediaConfiguration
  /** Removals, sent to each process that starts. */
  removals: () => readonly Removal[]
  /** Outgoing users of the site, sent to each process that starts. */
  outgoing?: () => OutgoingId[]
  /** Receives each removal from a room, with the host who made it. */
  removed: (removal: Removal, userName: string, by?: Doer) => void
  /** Receives acts of hosts. */
  hostActed?: (acted: HostActed) => void
  answers: RoomAnswers
  /** Receives events of rooms with remote media, and restarts of the process. */
  gateway?: () => GatewayListener
  /** Receives who waits before rooms, and restarts of the process. */
  waiting?: WaitingListener
  /** Receives what is recorded, and restarts of the process. */
  recorder?: RecorderListener
  /** Receives the reason when the process of a node ended, hung or could not be started; it is started again. */
  failed?: (node: string, why: string) => void
  /** Receives each device that opened the page by which it shows that it reaches this machine. */
  reached?: ((visit: ReportParams<'pageReached'>) => void) | undefined
  /** Receives attempts that the node refused. */
  guessed: (guesses: ReportParams<'guesses'>) => void
  logger: NodeLogger
  /** See SupervisorOptions. */
  hangsAfterMs?: number | undefined
  /** Checks before each start whether another program has the port, and names it. */
  looksAtPort?: boolean
}
