import { afterAll, beforeAll } from 'vitest'
import { RecordingNode } from '../recordings/recording-node.ts'

/** Starts the node for the cameras of a test file, and removes it with the file. Call it once at the top. */
export function fieldNodeOfFile(): () => RecordingNode {
  let node: RecordingNode
  beforeAll(async () => {
    node = await RecordingNode.start({
      settings: { camera_answer_ms: 2_000, camera_stall_ms: 20_000, transcoders: 10 },
    })
  })
  afterAll(async () => {
    await node[Symbol.asyncDispose]()
  })
  return () => node
}
