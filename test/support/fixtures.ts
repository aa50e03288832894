import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, expect } from 'vitest'
import { type MediaNodeOptions, TestMediaNode } from './media/media-node.ts'

type OnCleanup = (end: () => void | Promise<void>) => void

/** Disposes of the resource of a fixture after the tests that the fixture is for. */
export function disposed<T extends AsyncDisposable>(onCleanup: OnCleanup, resource: T): T {
  onCleanup(async () => await resource[Symbol.asyncDispose]())
  return resource
}

/**
 * Shares a resource among the tests and the helper functions of a file or a `describe`: it is started before the first
 * test and ended after the last. A resource that only tests use is a fixture of `test.extend`.
 * @param end default: disposal, if the resource can be disposed of
 * @returns gets the resource while tests run, also for the start of further resources
 */
export function shared<T>(start: () => T | Promise<T>, end: (resource: T) => unknown = dispose): () => T {
  let started: { resource: T } | undefined
  beforeAll(async () => {
    const resource = await start()
    started = { resource }
    return async () => {
      await end(resource)
    }
  })
  return () => {
    if (started === undefined) throw new Error('A shared resource exists only while tests run.')
    return started.resource
  }
}

async function dispose(resource: unknown): Promise<void> {
  if (typeof resource !== 'object' || resource === null || !(Symbol.asyncDispose in resource)) return
  await (resource as AsyncDisposable)[Symbol.asyncDispose]()
}

/** Shares an empty folder, which is removed with everything in it. */
export const sharedFolder = (): (() => string) =>
  shared(
    () => mkdtemp(join(tmpdir(), 'roomdesk-test-')),
    (folder) => rm(folder, { recursive: true, force: true, maxRetries: 5 }),
  )

/** Shares a media node that must not log a warning. */
export const sharedMediaNode = (options?: MediaNodeOptions): (() => TestMediaNode) =>
  shared(
    () => TestMediaNode.start(options),
    async (node) => {
      expect(node.complaints).toEqual([])
      await node.stop()
    },
  )
