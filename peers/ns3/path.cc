// One bulk TCP flow over S1 - R1 - R2 - S2 in ns-3, with a fraction of the data packets delayed behind the
// bottleneck while the ones behind pass: the path of ../ns2/path.tcl, and rr-3 here. README.md has the
// settings, and why they are so.
//
//   path [--delayed=0.1] [--duration=1000] [--seed=1]        prints one line of key=value

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"

#include <algorithm>
#include <chrono>
#include <cstdio>

using namespace ns3;

namespace
{

// Octets of a data packet's payload, of its headers, and of PPP's header, which ns-2 has not.
constexpr uint32_t PAYLOAD = 960;
constexpr double WIRE = 1000;
constexpr double PPP = 2;

/// A link that delays a fraction of the packets of its first device by a normal law clamped at zero, and
/// counts the large ones.
class ReorderingChannel : public PointToPointChannel
{
  public:
    double fraction = 0;
    uint64_t data_packets = 0;

    bool TransmitStart(Ptr<const Packet> packet, Ptr<PointToPointNetDevice> from, Time time) override
    {
        if (from != GetSource(0))
        {
            return PointToPointChannel::TransmitStart(packet, from, time);
        }
        data_packets += packet->GetSize() > PAYLOAD;
        if (fraction == 0 || uniform->GetValue() >= fraction)
        {
            return PointToPointChannel::TransmitStart(packet, from, time);
        }
        Ptr<PointToPointNetDevice> to = GetDestination(0);
        Time late = Seconds(std::max(0.0, normal->GetValue()));
        Simulator::ScheduleWithContext(to->GetNode()->GetId(), time + GetDelay() + late,
                                       &PointToPointNetDevice::Receive, to, packet->Copy());
        return true;
    }

    void Draw(double mean, double deviation)
    {
        uniform = CreateObject<UniformRandomVariable>();
        normal = CreateObject<NormalRandomVariable>();
        normal->SetAttribute("Mean", DoubleValue(mean));
        normal->SetAttribute("Variance", DoubleValue(deviation * deviation));
    }

  private:
    Ptr<UniformRandomVariable> uniform;
    Ptr<NormalRandomVariable> normal;
};

Ptr<PointToPointNetDevice> AddDevice(Ptr<Node> node, Ptr<PointToPointChannel> channel, double rate)
{
    auto device = CreateObject<PointToPointNetDevice>();
    device->SetAddress(Mac48Address::Allocate());
    // A packet with PPP's header takes as long as one without it does in ns-2.
    device->SetDataRate(DataRate(static_cast<uint64_t>(rate * (WIRE + PPP) / WIRE)));
    device->SetQueue(CreateObjectWithAttributes<DropTailQueue<Packet>>(
        "MaxSize", QueueSizeValue(QueueSize("1000000p"))));
    node->AddDevice(device);
    device->Attach(channel);
    return device;
}

template <class Channel>
Ptr<Channel> Connect(Ptr<Node> a, Ptr<Node> b, double rate, double delay, Ipv4AddressHelper &addresses,
                     Ipv4InterfaceContainer &interfaces)
{
    auto channel = CreateObject<Channel>();
    channel->SetAttribute("Delay", TimeValue(Seconds(delay)));
    NetDeviceContainer devices;
    devices.Add(AddDevice(a, channel, rate));
    devices.Add(AddDevice(b, channel, rate));
    // Devices without an interface for queue discs get none, so packets wait in the device's queue alone.
    interfaces = addresses.Assign(devices);
    addresses.NewNetwork();
    return channel;
}

} // namespace

int main(int argc, char *argv[])
{
    double delayed = 0, mean = 0.025, deviation = 0.008, duration = 1000;
    uint32_t seed = 1, window = 50;
    CommandLine arguments;
    arguments.AddValue("delayed", "fraction of the data packets that are late", delayed);
    arguments.AddValue("mean", "mean lateness in seconds", mean);
    arguments.AddValue("sd", "its standard deviation in seconds", deviation);
    arguments.AddValue("duration", "simulated seconds", duration);
    arguments.AddValue("window", "packets in the receiver's window", window);
    arguments.AddValue("seed", "number of the run", seed);
    arguments.Parse(argc, argv);
    RngSeedManager::SetRun(seed);

    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(PAYLOAD));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(window * PAYLOAD));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(4 * window * PAYLOAD));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(2));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(Seconds(1)));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(true));
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TcpNewReno::GetTypeId()));
    Config::SetDefault("ns3::TcpL4Protocol::RecoveryType",
                       TypeIdValue(TcpClassicRecovery::GetTypeId()));

    NodeContainer nodes;
    nodes.Create(4);
    InternetStackHelper().Install(nodes);
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
    Ipv4InterfaceContainer source, middle, sink;
    auto s1 = nodes.Get(0), r1 = nodes.Get(1), r2 = nodes.Get(2), s2 = nodes.Get(3);
    Connect<PointToPointChannel>(s1, r1, 10e6, 0.001, addresses, source);
    auto bottleneck =
        Connect<ReorderingChannel>(r1, r2, 3846153.846153846, 0.050, addresses, middle);
    Connect<PointToPointChannel>(r2, s2, 10e6, 0.001, addresses, sink);
    bottleneck->fraction = delayed;
    bottleneck->Draw(mean, deviation);
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();

    const uint16_t port = 5001;
    auto receiver = PacketSinkHelper("ns3::TcpSocketFactory",
                                     InetSocketAddress(Ipv4Address::GetAny(), port))
                        .Install(s2);
    BulkSendHelper bulk("ns3::TcpSocketFactory", InetSocketAddress(sink.GetAddress(1), port));
    bulk.SetAttribute("SendSize", UintegerValue(PAYLOAD));
    bulk.Install(s1).Start(Seconds(0));

    Simulator::Stop(Seconds(duration));
    auto begun = std::chrono::steady_clock::now();
    Simulator::Run();
    std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begun;
    double octets = static_cast<double>(DynamicCast<PacketSink>(receiver.Get(0))->GetTotalRx());
    std::printf("delayed=%g seed=%u seconds=%g packets_per_second=%.3f sent=%llu wall=%.3f\n", delayed, seed,
                duration, octets / PAYLOAD / duration,
                static_cast<unsigned long long>(bottleneck->data_packets), wall.count());
    Simulator::Destroy();
}
