import { type DestinationStream, type LogFn, type Logger, pino } from 'pino'
import { standardError } from './standard-streams.ts'
import { withoutSecrets, withoutSecretText } from './redaction/log-fields.ts'

/** The parts of a logger that the controller uses. */
export type Log = Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>

/** Levels of `--log-level`, from the most to the least verbose. */
export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent'

/**
 * Creates the controller's log: JSON lines on stderr, with complete errors, and with secrets removed from fields and
 * texts.
 * @param destination default: stderr
 */
export function createLog(level: LogLevel, destination: DestinationStream = standardError()): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }), log: (fields) => withoutSecrets(fields) },
      // `withoutSecrets` formats errors together with the other fields.
      serializers: { err: (value: unknown) => value, error: (value: unknown) => value },
      hooks: {
        logMethod(parts, method) {
          const clean = parts.map((part: unknown) => (typeof part === 'string' ? withoutSecretText(part) : part))
          method.apply(this, clean as Parameters<LogFn>)
        },
      },
    },
    destination,
  )
}
