import type { ControlEvent } from '../../../shared/media/control.ts'
import type { RecorderEvent } from '../../../shared/recordings/segment.ts'

/** Event of the program that shows the room page, about a room whose media is on another node. */
export type GatewayEvent = Extract<ControlEvent, { type: (typeof gatewayEvents)[number] }>

const gatewayEvents = ['remoteEntered', 'remoteLeft', 'remoteMuted', 'mediaRequested'] as const

export function isGatewayEvent(event: ControlEvent): event is GatewayEvent {
  return gatewayEvents.some((type) => type === event.type)
}

/** Receives who waits before rooms. */
export interface WaitingListener {
  /** @param node whose program reports it */
  take(node: string, report: Extract<ControlEvent, { type: 'waiting' }>): void
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

/** Receives what media programs report of rooms whose media is remote. */
export interface GatewayListener {
  /** @param node whose program reports it */
  take(node: string, event: GatewayEvent): void
  /** The program of a node restarted, with empty rooms. */
  restarted(node: string): void
}
