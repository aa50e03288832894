import type { DeviceErrorKind } from '../device.ts'
import { type Refusal, refusal } from './refusal.ts'

const names = {
  auth: 'deviceAuth',
  notFound: 'deviceNoStream',
  refused: 'deviceRefused',
  unreachable: 'deviceUnreachable',
  timeout: 'deviceTimeout',
  protocol: 'deviceProtocol',
  certificate: 'deviceCertificate',
  noUsableTrack: 'deviceNoUsableTrack',
  closed: 'deviceClosed',
  stalled: 'deviceStalled',
  noNode: 'deviceNoNode',
  roomFull: 'deviceRoomFull',
  roomLocked: 'deviceRoomLocked',
  nodeFailed: 'deviceNodeFailed',
  forbidden: 'deviceForbidden',
  encrypted: 'deviceEncrypted',
  rejected: 'deviceRejected',
  redirected: 'deviceRedirected',
  oldTls: 'deviceOldTls',
  noTransport: 'deviceNoTransport',
  srtp: 'deviceSrtp',
} as const satisfies Record<DeviceErrorKind, string>

/**
 * Returns the refusal for a call that failed due to a device.
 * @param detail response of the device, with the request, e.g. `551 Option not supported to SETUP of track 3 (PCMA)`;
 * empty: unknown
 */
export function refusalOfDevice(kind: DeviceErrorKind, detail = ''): Refusal {
  const known = refusal(names[kind])
  return detail === '' ? known : { ...known, values: { detail }, message: `${known.message} (${detail})` }
}
