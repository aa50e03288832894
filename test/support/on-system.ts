import { onTestFinished } from 'vitest'

const { platform } = process

/** Runs the rest of this test as if on another system. */
export function onSystem(system: NodeJS.Platform): void {
  Object.defineProperty(process, 'platform', { value: system })
  onTestFinished(() => void Object.defineProperty(process, 'platform', { value: platform }))
}
