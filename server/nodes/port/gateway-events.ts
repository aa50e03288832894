import type { ReportParams } from '../../../shared/media/control.ts'
import type { RoomMediaMethod, RoomMediaParams, RoomMediaResult } from '../../../shared/media/room-media.ts'
import type { RecorderEvent } from '../../../shared/recordings/segment.ts'

/** Receives who waits before rooms. */
export interface WaitingListener {
  /** @param node whose program reports it */
  take(node: string, report: ReportParams<'waiting'>): void
  /** The program of a node restarted: nobody waits there. */
  restarted(node: string): void
}

/** Receives what the recorders of media programs report. */
export interface RecorderListener {
  /** @param node whose program reports it */
  take(node: string, event: RecorderEvent): void
  /** The program of a node ended, or another one runs: it records nothing before it is sent the orders again. */
  restarted(node: string): void
}

/** Rooms whose media is remote, for the programs that show their room page. The first parameter is the node of the program. */
export interface GatewayListener {
  /** Calls a method of RoomMedia for the people of a program. @throws MediaRefusal */
  call<M extends RoomMediaMethod>(node: string, method: M, params: RoomMediaParams<M>): Promise<RoomMediaResult<M>>
  entered(node: string, entered: ReportParams<'remoteEntered'>): void
  left(node: string, left: ReportParams<'remoteLeft'>): void
  muted(node: string, muted: ReportParams<'remoteMuted'>): void
  /** The program restarted, with empty rooms. */
  restarted(node: string): void
}
