import type { Doer, OutgoingId, Removal } from '../../../shared/media/control.ts'
import type { ReportParams, ReportResult, RoomLook } from '../../../shared/media/controller-methods.ts'
import type { MediaSettings } from '../../../shared/media/media-settings.ts'
import type { TlsMaterial } from '../../edge/tls.ts'
import type { Gated } from '../../gate/gate.ts'
import type { StoredNode } from '../../store/records.ts'
import type { GatewayListener, NodeRecordings, WaitingListener } from '../port/gateway-events.ts'
import type { NodeLogger } from '../port/node-failure.ts'
import type { LocalFfmpeg } from './ffmpeg/ffmpeg-program.ts'
import type { SpawnMediaProcess } from './media-process.ts'

/** Address on which the node listens. */
export interface MediaPlace {
  host: string
  /** TCP port; 0: any free port. */
  port: number
  /** PEM texts of the certificate and its key; undefined: plain HTTP. */
  tls: { cert: string; key: string } | undefined
  /** PEM texts for pages that were opened over https before TLS was disabled; served in addition to plain HTTP. */
  formerTls?: { cert: string; key: string } | undefined
}

/** Configuration of a node except its address; read at each start and after each change. */
export interface MediaConfiguration {
  /** Key that signs join links, base64. */
  tokenKey: string
  /** UDP port for media; 0: the number of the node port. */
  udpPort: number
  settings: MediaSettings
}

/** Request of a user to enter a room that is not open on the node, or to which only the controller can admit them. */
export type WantedRoom = ReportParams<'enter_room'>
/** Visit to the page of a room, without a link or with a valid link. */
export type LookedRoom = ReportParams<'look_at_room'>
/** Request of a host to lock or unlock their room. */
export type WantedLock = ReportParams<'lock_room'>
/** Request of a host for a join link that anyone can use. */
export type WantedInvite = ReportParams<'make_invitation'>
/** Request of a host to start or stop the recording of their room. */
export type WantedRecording = ReportParams<'record_room'>
/** Request of a test person of the lab for a join link. */
export type WantedTestEntry = ReportParams<'test_person_entry'>
/** Token of a join link for a test person, or the reason why there is none. */
export type TestEntry = ReportResult<'test_person_entry'>
/** Action of a host that the node has already applied. */
export type HostActed = ReportParams<'hostActed'>

/** Answer to a user who requests entry to a room. */
export type RoomAnswer = ReportResult<'enter_room'>

/** Handlers of the process's requests about rooms. The handlers never reject. */
interface RoomAnswers {
  /**
   * Opens a room for a user who may enter it.
   * @param node name of the user's node
   */
  open: Gated<(wanted: WantedRoom, node: string) => RoomAnswer | Promise<RoomAnswer>>
  /** Returns facts about a room for a visitor before they join. */
  look: Gated<(looked: LookedRoom) => RoomLook | Promise<RoomLook>>
  /** Locks or unlocks a room for its host. Returns whether that succeeded. */
  lock: Gated<(wanted: WantedLock) => boolean | Promise<boolean>>
  /** Creates a join link for a host; undefined if that is impossible. */
  invite: Gated<(wanted: WantedInvite) => string | undefined | Promise<string | undefined>>
  /** Starts or stops the recording of a room for its host. Returns whether that succeeded. */
  record: Gated<(wanted: WantedRecording) => boolean | Promise<boolean>>
  /** Makes a join link for a test person of a group of the site. */
  testEntry: Gated<(wanted: WantedTestEntry) => TestEntry | Promise<TestEntry>>
}

export interface EmbeddedMediaOptions {
  spawn: SpawnMediaProcess
  /** Folder of the built room page; empty: no page is served. */
  pageFolder: string
  /** Existing folder for recordings, which the process may write. Left out: recording is impossible. */
  recordingsFolder?: string | undefined
  /** ffmpeg of this machine, which the controller runs for the processes. */
  ffmpeg: LocalFfmpeg
  /**
   * Data for requests that the site's other controllers forward: the key that verifies these requests, and the id and
   * certificate of this controller. Left out: there are no other controllers.
   */
  passedOn?: { key: Buffer; self: string; tls: TlsMaterial | undefined } | undefined
  /** @param node the node's record at the creation of its driver */
  configuration: (node: StoredNode) => MediaConfiguration
  /** Returns the removals, sent to each process that starts. */
  removals: () => readonly Removal[]
  /** Returns the devices of the site, sent to each process that starts. */
  outgoing?: () => OutgoingId[]
  /** Called for each removal of a user from a room, with the host who removed the user. */
  removed: (removal: Removal, userName: string, by?: Doer) => void
  /** Called for each action of a host. */
  hostActed?: (acted: HostActed) => void
  answers: RoomAnswers
  /** Receives events of rooms with remote media, and restarts of the process. */
  gateway?: () => GatewayListener
  /** Receives reports about waiting rooms, and restarts of the process. */
  waiting?: WaitingListener
  /** Receives reports of the recorder, and restarts of the process. */
  recorder?: () => NodeRecordings
  /**
   * Called with the reason when the process of a node ended, hung or could not be started. The process is then started
   * again.
   */
  failed?: (node: string, why: string) => void
  /** Called for each device that opened the page that checks whether the device reaches this machine. */
  reached?: ((visit: ReportParams<'pageReached'>) => void) | undefined
  /** Called for invalid links and host passwords that the node refused. */
  guessed: (guesses: ReportParams<'guesses'>) => void
  logger: NodeLogger
  /** See SupervisorOptions. */
  hangsAfterMs?: number | undefined
  /** Whether to check before each start that no other program uses the port, so that the error names the port. */
  looksAtPort?: boolean
}
