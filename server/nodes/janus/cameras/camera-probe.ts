import type { CameraSource } from '../../../../shared/device-address.ts'
import type { DeviceErrorKind } from '../../../../shared/device.ts'

/** Looks at a camera as an embedded node does: Janus never says why it could not pull one. */
export type CameraProbe = (
  camera: CameraSource,
  signal: AbortSignal,
) => Promise<{
  ok: boolean
  /** Why not; null when ok. */
  kind: DeviceErrorKind | null
  message: string
  /** IP address at which it answered, which is one where cameras may be; empty when it did not. */
  address: string
  /** Kind `video` or `audio`, and the codec as SDP names it. */
  tracks: readonly { kind: string; codec: string }[]
}>
