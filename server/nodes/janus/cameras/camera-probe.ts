import type { CameraSource } from '../../../../shared/device-address.ts'
import type { DeviceErrorKind } from '../../../../shared/device.ts'

/** Probes a camera in the same way as an embedded node. Janus does not report why it could not pull a camera. */
export type CameraProbe = (
  camera: CameraSource,
  signal: AbortSignal,
) => Promise<{
  ok: boolean
  /** Reason of the failure; null if `ok`. */
  kind: DeviceErrorKind | null
  message: string
  /** Permitted IP address at which the camera answered; empty if it did not answer. */
  address: string
  /** Kind `video` or `audio`, and the codec's name in SDP. */
  tracks: readonly { kind: string; codec: string }[]
}>
