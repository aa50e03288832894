import { z } from 'zod'
import { read } from './declare.ts'
import { moment, emptyOutcome } from '../domain/outcome.ts'
import { operator } from './procedure-access.ts'
import { type FindingName, readinessFindings, readinessStates } from './readiness-findings.ts'

/**
 * Checks of a machine, in the order of the page. `tray`, `sandbox` and `power` exist only in the desktop app, `walls`
 * in the desktop app on Linux.
 */
export const readinessChecks = [
  'ports',
  'phone',
  'firewall',
  'encryption',
  'ffmpeg',
  'disk',
  'space',
  'clock',
  'cameraClocks',
  'key',
  'power',
  'tray',
  'sandbox',
  'walls',
] as const
export type ReadinessCheck = (typeof readinessChecks)[number]
const check = z.enum(readinessChecks)

const findingNames = Object.keys(readinessFindings) as [FindingName, ...FindingName[]]

const readinessResult = z.strictObject({
  check,
  state: z.enum(readinessStates),
  finding: z.enum(findingNames),
  /** Values for the finding's sentences. Names ending in `_ms` are in milliseconds, in `_bytes` in bytes. */
  values: z.record(z.string(), z.union([z.string(), z.number()])),
  /** English message for scripts; the console creates its text from `finding` and `values`. */
  message: z.string(),
  /** Advice; empty: none. */
  advice: z.string(),
  /** Duration of the check in milliseconds. */
  took_ms: z.number(),
  at: moment,
})
export type ReadinessResult = z.output<typeof readinessResult>

/** Visit of a device to the page of `readiness.phone`. */
export const phoneArrival = z.strictObject({
  /** Address of the device. */
  client: z.string(),
  /** Whether the device is this machine itself, which does not prove that other devices can reach it. */
  own: z.boolean(),
  at: moment,
})

/** Page that the user opens on another device to prove that the device reaches this machine. */
const phonePage = z.strictObject({
  /**
   * Address of the page on each network of this machine, the most likely first; empty: no other machine can connect.
   */
  urls: z.array(z.string()),
  /** Whether the device's browser will warn, because the certificate was created by this machine. */
  warns: z.boolean(),
  /** Last other device that opened the page, or this machine if no other did; null: nobody yet. */
  arrived: phoneArrival.nullable(),
})
export type PhonePage = z.output<typeof phonePage>

export const readinessProcedures = {
  'readiness.checks': read({
    summary: 'Lists the checks that this machine has, with its name and the time of its clock.',
    input: emptyOutcome,
    output: z.strictObject({ machine: z.string(), checks: z.array(check), at: moment }),
    access: operator('site:read'),
  }),
  'readiness.run': read({
    summary: 'Runs checks of this machine side by side, and answers when the last one ends, at most 20 s later.',
    input: z
      .strictObject({
        /** Checks to run; undefined: all checks. */
        checks: z.array(check).min(1).max(readinessChecks.length).optional(),
      })
      .default({}),
    output: z.strictObject({ results: z.array(readinessResult) }),
    // The checks write a small file, and run system programs.
    access: operator('site:read'),
  }),
  'readiness.phone': read({
    summary: 'Makes the address of a page that another device opens to show that it reaches this machine.',
    input: emptyOutcome,
    output: phonePage,
    access: operator('site:read'),
    refreshOn: ['readiness.phone_arrived', 'listeners.changed'],
  }),
}
