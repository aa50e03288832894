import type { TestCameraSpec } from '../../../shared/media/test-camera.ts'
import type { ActiveBehaviours } from './active-behaviours.ts'
import type { ClipPair, SoundClip } from './clip.ts'
import type { LoginCheck } from './login-check.ts'

/** What the sessions of a camera share. */
export interface CameraContent {
  spec: TestCameraSpec
  behaviours: ActiveBehaviours
  logins: LoginCheck
  clips: ClipPair
  sound: SoundClip | undefined
}
