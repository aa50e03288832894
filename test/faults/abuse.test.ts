import { abusedPorts } from '../server/edge/abused-ports.ts'

abusedPorts('off')
