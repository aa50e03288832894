import { type DestinationStream, type Logger, pino, stdSerializers } from 'pino'

/** The parts of a logger that the controller uses. */
export type Log = Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>

/** Levels of `--log-level`, from the most to the least talkative. */
export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const
export type LogLevel = (typeof logLevels)[number]

/** Keys whose values never reach the log, at the top, one or two levels down. */
const secretKeys = [
  'secret_key',
  'secret_key_sealed',
  'secretKey',
  'secret',
  'secrets',
  'secrets_sealed',
  'digest',
  'access_token',
  'access_tocken',
  'accessToken',
  'token',
  'password',
  'host_password',
  'host_password_sealed',
  'login_password',
  'login_password_sealed',
  'authorization',
  'cookie',
  '["set-cookie"]',
  'console_key',
]

/**
 * The controller's log: JSON lines on stderr, secrets redacted by key.
 * @param destination where to; stderr, written at once, when left out
 */
export function createLog(
  level: LogLevel,
  destination: DestinationStream = pino.destination({ dest: 2, sync: true }),
): Logger {
  const paths = secretKeys.flatMap((key) =>
    key.startsWith('[') ? [key, `*${key}`, `*.*${key}`] : [key, `*.${key}`, `*.*.${key}`],
  )
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: stdSerializers.errWithCause, error: stdSerializers.errWithCause },
      redact: { paths, censor: '[redacted]' },
    },
    destination,
  )
}
