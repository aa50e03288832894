import { abusedPorts } from './abused-ports.ts'

abusedPorts('off')
