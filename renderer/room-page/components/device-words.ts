import type { DeviceInput, DeviceSwitch } from '../local/device-input.ts'
import { texts } from '../texts/texts.ts'

/** Describes a problem of a microphone or camera and the remedy; empty: no problem. */
export function problemText({ kind, problem }: Pick<DeviceInput, 'kind' | 'problem'>): string {
  if (problem === null) return ''
  const problems: Readonly<Record<string, string>> = texts.value.problems
  const kindOf = kind === 'audio' ? 'mic' : 'cam'
  const name = problem === 'insecure' ? problem : `${kindOf}${problem.charAt(0).toUpperCase()}${problem.slice(1)}`
  return problems[name] ?? ''
}

/** Describes the problems of several devices, each text once. */
export function problemTexts(devices: readonly DeviceSwitch[]): string[] {
  return [...new Set(devices.map(({ input }) => problemText(input)))].filter((text) => text !== '')
}

/** Returns the action and the icon of the button that turns a microphone or camera on and off. */
export function switchOf({ kind, on }: Pick<DeviceInput, 'kind' | 'on'>) {
  const { mute, unmute, cameraOff, cameraOn } = texts.value.controls
  return kind === 'audio'
    ? ({ act: on ? mute : unmute, icon: on ? 'microphone' : 'microphoneOff' } as const)
    : ({ act: on ? cameraOff : cameraOn, icon: on ? 'camera' : 'cameraOff' } as const)
}
