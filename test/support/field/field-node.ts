import { shared } from '../fixtures.ts'
import { RecordingNode } from '../recordings/recording-node.ts'

/** Starts the node for the cameras of a test file, and removes it with the file. Call it once at the top. */
export const fieldNodeOfFile = (): (() => RecordingNode) =>
  shared(() => RecordingNode.start({ settings: { camera_answer_ms: 2_000, camera_stall_ms: 20_000, transcoders: 10 } }))
