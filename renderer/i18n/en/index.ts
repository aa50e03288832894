import { common } from './common.ts'
import { credentials } from './credentials.ts'
import { nodes } from './nodes.ts'
import { overview, welcome } from './overview.ts'
import { rooms } from './rooms.ts'

/** Every English text: the shape that other catalogues follow. */
export const en = { ...common, overview, welcome, credentials, rooms, nodes } as const
