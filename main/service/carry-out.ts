import { execFile } from 'node:child_process'
import { chmod, copyFile, mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { makeOwnFolder } from '../../shared/files/folder-owner.ts'
import type { Command, ServiceStep } from './service-plan.ts'

/** Time limit of one command, in milliseconds. Stopping a service takes long because its store is flushed. */
const commandMs = 60_000

/** A command of the system failed. The message contains its output. */
export class CommandFailedError extends Error {
  override readonly name = 'CommandFailedError'
  /** Output of the command. */
  readonly said: string

  constructor(message: string, said: string, options?: ErrorOptions) {
    super(message, options)
    this.said = said
  }
}

/** Runs a command of the system. @throws CommandFailedError */
export async function runCommand([program, ...args]: Command): Promise<void> {
  try {
    await promisify(execFile)(program, args, { timeout: commandMs, windowsHide: true })
  } catch (cause) {
    const { stdout = '', stderr = '', message } = cause as Error & { stdout?: string; stderr?: string }
    const said = `${stdout}\n${stderr}`.trim() || message
    throw new CommandFailedError(`${[program, ...args].join(' ')}: ${said}`, said, { cause })
  }
}

/** Executes steps one after another. @throws the error of the first failed step */
export async function carryOut(
  steps: readonly ServiceStep[],
  run: (command: Command) => Promise<void> = runCommand,
): Promise<void> {
  for (const step of steps) await carryOutStep(step, run)
}

async function carryOutStep(step: ServiceStep, run: (command: Command) => Promise<void>): Promise<void> {
  switch (step.kind) {
    case 'folder':
      if (step.mustBeOurs === true) await makeOwnFolder(step.path, 'Remove it, and install the service again.')
      else await mkdir(step.path, { recursive: true, mode: step.mode })
      return
    case 'file':
      await mkdir(dirname(step.path), { recursive: true })
      await writeFile(step.path, step.content, { mode: step.mode })
      // Writing to an existing file does not change its mode.
      await chmod(step.path, step.mode)
      return
    case 'copy':
      await copyFile(step.from, step.to)
      return
    case 'remove':
      await rm(step.path, { recursive: true, force: true, maxRetries: 5 })
      return
    case 'run':
      await run(step.command).catch((cause: unknown) => {
        if (step.optional === true) return
        if (step.refusal === undefined) throw cause
        const said = cause instanceof CommandFailedError ? cause.said : String(cause)
        throw new CommandFailedError(`${step.refusal}\n${said}`, said, { cause })
      })
  }
}
