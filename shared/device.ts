/** States of a device. */
export const deviceStates = ['joining', 'joined', 'waiting', 'paused'] as const
/**
 * State of a device. joining: an attempt is in progress; joined: media flows; waiting: the last attempt failed, and the
 * next may be scheduled; paused: by the operator.
 */
export type DeviceState = (typeof deviceStates)[number]

/** Reasons why a device could not join, or was lost. */
export const deviceErrorKinds = [
  'auth',
  'notFound',
  'refused',
  'unreachable',
  'timeout',
  'protocol',
  'certificate',
  'noUsableTrack',
  'closed',
  'stalled',
  'noNode',
  'roomFull',
  'roomLocked',
  'nodeFailed',
  'forbidden',
  'encrypted',
  'rejected',
  'redirected',
  'oldTls',
  'noTransport',
  'srtp',
] as const
export type DeviceErrorKind = (typeof deviceErrorKinds)[number]

/** Sentence for each kind: the `msg` of ret 426 and 427, and the English text of the console. */
export const deviceErrorMessages: Readonly<Record<DeviceErrorKind, string>> = {
  auth: 'The device refused the login: check login_name and login_password.',
  notFound: 'The device has no stream at this path: check the path of userAddress.',
  refused: 'The device refused the connection: check its port and that RTSP is on.',
  unreachable: 'The device cannot be reached: check its host and the network.',
  timeout: 'The device did not answer in time.',
  protocol: 'The device did not answer as an RTSP server does: check host and port.',
  certificate:
    'The certificate of the device is not trusted: let the settings trust camera certificates, or give it one of an authority.',
  noUsableTrack: 'The device sends no supported media: set it to H.264 video.',
  closed: 'The device closed the connection.',
  stalled: 'The device stopped sending media.',
  noNode: 'No MCU is available for this room.',
  roomFull: 'The room is full.',
  roomLocked: 'The room is locked.',
  nodeFailed: 'The MCU could not take the device.',
  forbidden:
    'Devices may not be at this address: it is outside the networks that the settings allow, or it is a port of this site.',
  encrypted:
    'The MCU of this room takes devices by rtsp:// only: give the device such an address, or add an embedded MCU, which the room gets once no people are in it.',
  rejected: 'The device rejected a request: check its settings for RTSP.',
  redirected:
    'The device redirects to an address that is not allowed: give the address of the stream itself, or allow its network.',
  oldTls: 'The device speaks only TLS that is out of date: update it, allow old TLS for it, or use rtsp://.',
  noTransport: 'The device refused both TCP and unicast UDP: set its stream to unicast instead of multicast.',
  srtp: 'The device encrypts its media with SRTP, which is not supported: switch SRTP off in the device or in its address (enableSrtp); rtsps:// still encrypts the connection.',
}
