import type { DeviceLogin } from '../../../../shared/device-address.ts'
import type { DeviceErrorKind } from '../../../../shared/device.ts'

/** Looks at a camera as an embedded node does: Janus never says why it could not pull one. */
export type CameraProbe = (
  camera: { address: string; login: DeviceLogin | undefined },
  signal: AbortSignal,
) => Promise<{
  ok: boolean
  /** Why not; null when ok. */
  kind: DeviceErrorKind | null
  message: string
  tracks: readonly { kind: 'video' | 'audio'; codec: string }[]
}>
