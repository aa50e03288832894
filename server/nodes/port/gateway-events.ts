import type { ReportParams } from '../../../shared/media/controller-methods.ts'
import type { RoomMediaMethod, RoomMediaParams, RoomMediaResult } from '../../../shared/media/room-media.ts'
import type { RecorderEvent } from '../../../shared/recordings/segment.ts'

/** Receives reports about users in waiting rooms. */
export interface WaitingListener {
  /** @param node node of the program that sent the report */
  take(node: string, report: ReportParams<'waiting'>): void
  /** Called when the program of a node ended or restarted. Its waiting rooms are then empty. */
  restarted(node: string): void
}

/** Receives the reports of the recorders in media programs. */
export interface RecorderListener {
  /** @param node node of the program that sent the report */
  take(node: string, event: RecorderEvent): void
}

/** Recordings of a site, as its nodes use them. */
export interface NodeRecordings {
  /** Receiver of the recorders' reports; undefined: nothing can be recorded. */
  readonly intake: RecorderListener | undefined
  /**
   * Called when the program of a node ended or restarted. The program records nothing until the orders are sent again.
   */
  restarted(node: string): void
}

/**
 * Receives calls and reports of programs that serve the room page of rooms with remote media. The first parameter is
 * the node of the program.
 */
export interface GatewayListener {
  /**
   * Calls a method of RoomMedia for the people of a program.
   * @throws MediaRefusal
   */
  call<M extends RoomMediaMethod>(node: string, method: M, params: RoomMediaParams<M>): Promise<RoomMediaResult<M>>
  entered(node: string, entered: ReportParams<'remoteEntered'>): void
  left(node: string, left: ReportParams<'remoteLeft'>): void
  muted(node: string, muted: ReportParams<'remoteMuted'>): void
  /** Called when the program ended or restarted: it has no rooms. */
  restarted(node: string): void
}
