import { cameraKey, type CameraSource } from '../../../shared/device-address.ts'

/** Counts who uses each camera: one camera in several rooms is pulled once (contract, section 4). */
export class PullCount {
  readonly #uses = new Map<string, number>()

  /** Different cameras that are pulled now. */
  get size(): number {
    return this.#uses.size
  }

  /** One more use of the camera; returns what `release` takes. */
  take(source: CameraSource): string {
    const camera = cameraKey(source)
    this.#uses.set(camera, (this.#uses.get(camera) ?? 0) + 1)
    return camera
  }

  release(camera: string): void {
    const uses = (this.#uses.get(camera) ?? 0) - 1
    if (uses > 0) this.#uses.set(camera, uses)
    else this.#uses.delete(camera)
  }

  clear(): void {
    this.#uses.clear()
  }
}
