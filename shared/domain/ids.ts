import { limits } from '../limits.ts'
import { bytes } from '../operation.ts'

/** Number of a room, as every input takes it. */
export const roomId = bytes(1, limits.roomExtendId)
/** Id of a user, a person or a camera, as every input takes it. */
export const userId = bytes(1, limits.userId)
