import type { TestCameraSpec } from '../../../shared/media/test-camera.ts'
import type { ActiveBehaviours } from './active-behaviours.ts'
import type { ClipPair, SoundClip } from './clip.ts'
import type { LoginCheck } from './login-check.ts'

/** Parts of a camera that all of its sessions use. */
export interface CameraContent {
  spec: TestCameraSpec
  behaviours: ActiveBehaviours
  logins: LoginCheck
  clips: ClipPair
  sound: SoundClip | undefined
}
